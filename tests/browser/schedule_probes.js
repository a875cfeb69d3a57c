/** What the tests of the schedule figure read from the page: one object of functions. */
({
  boxes() {
    const drawn = document.querySelectorAll("#sched .chart:not([hidden]) rect[data-op]");
    return [...drawn].map((rect) => ({
      gpu: +rect.dataset.gpu,
      op: rect.dataset.op,
      mb: +rect.dataset.mb,
      stage: +rect.dataset.stage,
      start: +rect.dataset.start,
      end: +rect.dataset.end,
      x: +rect.getAttribute("x"),
      width: +rect.getAttribute("width"),
      height: +rect.getAttribute("height"),
    }));
  },

  outs() {
    const found = document.querySelectorAll("#sched [data-out]");
    return Object.fromEntries([...found].map((one) => [one.dataset.out, one.textContent]));
  },

  rows() {
    const found = document.querySelectorAll("#sched tbody tr");
    return [...found].map((row) => [...row.children].map((cell) => cell.textContent));
  },

  /** Go to another state without loading the page again. */
  show(query) {
    history.replaceState(null, "", query || location.pathname);
    dispatchEvent(new PopStateEvent("popstate"));
  },

  /** Use the n-th control, counted round and round. */
  change(n) {
    const kinds = "input[type=radio], .num button, input[type=checkbox]";
    const found = document.querySelectorAll(`#sched .panel :is(${kinds}), #sched [data-story]`);
    const usable = [...found].filter((one) => !one.closest("[hidden], details"));
    usable[n % usable.length].click();
    const note = document.querySelector("#sched .note");
    if (!note.hidden) document.querySelector('#sched [data-story="4"]').click();
  },

  /** Return the cases that leave a reader with nothing, or with nonsense. */
  dead_ends(cases) {
    const bad = [];
    const note = document.querySelector("#sched .note");
    for (const [s, p, m, v] of cases) {
      this.show(`?w=sched&s=${s}&p=${p}&m=${m}&v=${v}`);
      const text = document.getElementById("sched").textContent;
      const offer = note.querySelector("button");
      const drawn = document.querySelectorAll("#sched :is(rect[data-op], canvas)").length;
      if (/NaN|undefined|Infinity|\[object|null/.test(text)) bad.push([s, p, m, v, "nonsense"]);
      if (!drawn) bad.push([s, p, m, v, "no picture"]);
      if (!note.hidden && !offer) bad.push([s, p, m, v, "no way out"]);
      if (offer) offer.click();
      if (!note.hidden) bad.push([s, p, m, v, "the way out is refused too"]);
    }
    return bad;
  },

  /** Return where the focus is: inside?, tag, name, width of its ring. */
  focus() {
    const one = document.activeElement;
    const ringed = one.matches("input[type=radio]") ? one.nextElementSibling : one;
    const name = one.getAttribute("aria-label") || one.textContent.slice(0, 30);
    const ring = parseFloat(getComputedStyle(ringed).outlineWidth);
    return [one.closest("#sched") !== null, one.tagName, name, ring];
  },

  unnamed() {
    const found = document.querySelectorAll("#sched :is(button, input, select)");
    const name = (one) =>
      one.getAttribute("aria-label") || one.labels?.[0]?.textContent || one.textContent;
    return [...found].filter((one) => !name(one).trim()).map((one) => one.outerHTML);
  },

  /** Count changes below a selector in window.changes. */
  watch(selector) {
    window.changes = 0;
    const observer = new MutationObserver((list) => {
      window.changes += list.length;
    });
    const everything = { subtree: true, childList: true, attributes: true, characterData: true };
    observer.observe(document.querySelector(selector), everything);
  },

  /** Count animation frames that the page asks for in window.frameCount. */
  count_frames() {
    window.frameCount = 0;
    const real = requestAnimationFrame;
    window.requestAnimationFrame = (draw) =>
      real((time) => {
        window.frameCount += 1;
        draw(time);
      });
  },

  /** Collect every time that the scrubber shows in window.times. */
  watch_times() {
    window.times = new Set();
    const scrub = document.querySelector("#sched .scrub");
    (function look() {
      window.times.add(scrub.value);
      requestAnimationFrame(look);
    })();
  },

  /** Return what a small screen would make useless. */
  faults() {
    const faults = new Set();
    const root = document.getElementById("sched");
    const wide = document.documentElement.scrollWidth;
    if (wide > innerWidth) faults.add(`the page is ${wide} wide`);
    for (const one of root.querySelectorAll("button, input, select, summary")) {
      const box = (one.closest("label") ?? one).getBoundingClientRect();
      if (!box.width) continue;
      const what = one.outerHTML.slice(0, 80);
      if (box.left < 0 || box.right > innerWidth) faults.add(`outside: ${what}`);
      const least = (one.matches("[data-story], .play") ? 40 : 24) - 0.5;
      if (box.width < least || box.height < least)
        faults.add(`${box.width}x${box.height}: ${what}`);
    }
    for (const svg of root.querySelectorAll(".chart:not([hidden]) svg")) {
      const texts = [...svg.querySelectorAll("text")];
      if (texts[0] && parseFloat(getComputedStyle(texts[0]).fontSize) < 10) faults.add("tiny text");
      const spots = texts.map((one) => one.getBoundingClientRect());
      spots.sort((a, b) => a.top - b.top || a.left - b.left);
      spots.forEach((b, i) => {
        for (const a of spots.slice(Math.max(0, i - 12), i)) {
          // A line is taller than its digits: the middle 60 % of both must not meet.
          const low = a.bottom - 0.2 * a.height;
          const across = a.left < b.right - 0.5 && b.left < a.right - 0.5;
          if (across && b.top + 0.2 * b.height < low)
            faults.add(`text on text at ${b.left},${b.top}`);
        }
      });
    }
    return [...faults].slice(0, 6);
  },

  /** Return a colour of the figure as red, green and blue from 0 to 255. */
  colour(name) {
    const probe = document.getElementById("sched").appendChild(document.createElement("i"));
    probe.style.color = `var(--${name})`;
    const found = getComputedStyle(probe)
      .color.match(/[\d.]+/g)
      .slice(0, 3)
      .map(Number);
    probe.remove();
    return found;
  },

  linear(name) {
    return this.colour(name)
      .map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  },

  contrast(one, other) {
    const shine = [one, other].map((name) => {
      const [r, g, b] = this.linear(name);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    });
    return (Math.max(...shine) + 0.05) / (Math.min(...shine) + 0.05);
  },

  /** Return how far apart two colours look (CIE 1976) to eyes given by a matrix. */
  distance(one, other, eyes) {
    const curve = (t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
    const lab = (name) => {
      const rgb = this.linear(name);
      const seen = eyes.map((row) => row.reduce((sum, w, i) => sum + w * rgb[i], 0));
      const [r, g, b] = seen.map((part) => Math.min(1, Math.max(0, part)));
      const x = curve((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505);
      const y = curve(0.2126 * r + 0.7152 * g + 0.0722 * b);
      const z = curve((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
      return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
    };
    const [p, q] = [lab(one), lab(other)];
    return Math.hypot(...p.map((value, i) => value - q[i]));
  },

  /** Return milliseconds from a click on each schedule to its picture. */
  async times_to_paint(names) {
    const found = [];
    for (const name of names) {
      const start = performance.now();
      document.querySelector(`#sched input[value="${name}"]`).click();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      found.push(performance.now() - start);
    }
    return found;
  },

  layout_shift() {
    return new Promise((done) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) sum += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
      setTimeout(() => done(sum), 200);
    });
  },

  long_tasks() {
    return new Promise((done) => {
      const found = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) found.push(entry.duration);
      }).observe({ type: "longtask", buffered: true });
      setTimeout(() => done(found), 200);
    });
  },

  /** Play for a second and return the milliseconds of each task of over 50 in it. */
  async tasks_while_playing() {
    const found = [];
    const watch = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) found.push(entry.duration);
    });
    window.stSchedule.clock.go(0);
    await new Promise((done) => setTimeout(done, 100));
    watch.observe({ type: "longtask" });
    window.stSchedule.clock.play();
    await new Promise((done) => setTimeout(done, 1000));
    window.stSchedule.clock.stop();
    watch.disconnect();
    return found;
  },

  /** Return the share of a canvas that has exactly some colour. */
  painted(red, green, blue) {
    const canvas = document.querySelector("#sched canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i] === red && data[i + 1] === green && data[i + 2] === blue) count += 1;
    }
    return count / (data.length / 4);
  },

  /** Return milliseconds that one move of the playhead takes, the median of thirty. */
  frame_cost() {
    const costs = [];
    for (let i = 1; i <= 31; i += 1) {
      const start = performance.now();
      window.stSchedule.clock.go(i * 50);
      costs.push(performance.now() - start);
    }
    return costs.sort((a, b) => a - b)[15];
  },
});
