/** Asks the search in its thread; from a file, where a browser starts none, it works in turns. */

/** Return `ask(question)`, `open()` and `stop()`; `tell(message)` gets what is found so far. */
export function makeClient(script, tell) {
  let id = 0;
  let send = null;
  const heard = (message) => message.id === id && tell(message);

  function start() {
    try {
      const worker = new Worker(script);
      worker.onmessage = ({ data }) => heard(data);
      // Some browsers say only later that a file may start no thread.
      worker.onerror = (event) => {
        event.preventDefault();
        here();
      };
      send = (message) => worker.postMessage(message);
    } catch {
      here();
    }
  }

  function here() {
    let waiting = null;
    send = (message) => (waiting = message);
    const element = document.createElement("script");
    element.src = script;
    element.onload = () => {
      const driver = globalThis.stSearchHere(heard);
      send = driver.hear;
      if (waiting ?? last) send(waiting ?? last);
    };
    document.head.append(element);
  }

  let last = null;
  function ask(question) {
    id += 1;
    last = { question, id };
    if (!send) start();
    send(last);
  }
  /** Ask what the best layout of the search that is done leaves open. */
  const open = () => send?.({ id, open: true });
  function stop() {
    id += 1;
    send?.({ id });
  }
  return { ask, open, stop };
}
