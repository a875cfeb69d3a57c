// What axe finds in a part of the page: each rule everywhere, but rules of colours once for each
// look. They take axe nine tenths of its time. Of elements alike in tags, classes, colours and
// letters all the way up to the root, it can only say the same again; of links, if both or none
// stand in a sentence.
(async ([part]) => {
  const ids = new Map();
  const known = new Map();
  const look = (element) => {
    if (!element) return 0;
    if (!known.has(element)) {
      const style = getComputedStyle(element);
      const own = [
        look(element.parentElement), element.tagName, element.getAttribute('class'),
        style.color, style.backgroundColor, style.backgroundImage, style.opacity,
        style.fontSize, style.fontWeight, style.position, style.fill, style.display,
        element.localName === 'a' && `${style.textDecorationLine} ${style.borderBottom}`,
      ].join();
      if (!ids.has(own)) ids.set(own, ids.size + 1);
      known.set(element, ids.get(own));
    }
    return known.get(element);
  };
  const speaks = (element) => element.matches('input, select, textarea')
    || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const sentences = new Map();
  const blocks = ['block', 'list-item', 'table', 'flex', 'grid', 'inline-block'];
  const block = (element) => {
    const above = element.parentElement;
    return !above || blocks.includes(getComputedStyle(above).display) ? above : block(above);
  };
  const length = (element) => element.textContent.replace(/\s/g, '').length;
  const inSentence = (link) => {
    const whole = block(link) ?? link;
    if (!sentences.has(whole)) {
      const linked = [...whole.querySelectorAll('a')].reduce((sum, one) => sum + length(one), 0);
      sentences.set(whole, length(whole) > linked);
    }
    return sentences.get(whole);
  };
  const first = new Map();
  for (const link of document.querySelectorAll(`${part} a, ${part} [role=link]`)) {
    if (!link.checkVisibility()) continue;
    const kind = `${look(link)} ${inSentence(link)}`;
    if (!first.has(kind)) first.set(kind, link);
  }
  for (const element of document.querySelectorAll(`${part} *`)) {
    if (!element.checkVisibility() || !speaks(element)) continue;
    if (!first.has(look(element))) first.set(look(element), element);
  }
  const options = { preload: false, resultTypes: ['violations'] };
  const found = [
    await axe.run(part, { ...options, rules: {
      'color-contrast': { enabled: false },
      'link-in-text-block': { enabled: false },
      'label-content-name-mismatch': { enabled: true },
    } }),
    await axe.run({ include: [...first.values()] }, {
      ...options, runOnly: ['color-contrast', 'link-in-text-block'],
    }),
  ];
  return found.flatMap((one) => one.violations).flatMap((one) => one.nodes.map((node) =>
    `${one.id}: ${node.html.slice(0, 160)} ${(node.failureSummary || '').slice(0, 300)}`));
})
