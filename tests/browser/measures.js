// Asked of the page by its tests: what WCAG 2.2 measures.
(() => {
  const channel = (value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const parse = (text) => {
    const numbers = text.match(/[\d.]+/g).map(Number);
    return {rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1};
  };
  const over = (top, below) => top.rgb.map((value, i) => value * top.alpha + below[i] * (1 - top.alpha));

  // What lies behind an element: the colours of all around it, one over the other.
  const background = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };

  const isSeen = (element) => {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 1 && box.height > 1 && style.visibility === "visible" && style.clipPath === "none";
  };

  // 1.4.3: every text that is seen, with its contrast and what it needs.
  const contrasts = () => {
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const element = walk.currentNode.parentElement;
      if (!walk.currentNode.data.trim() || ["STYLE", "SCRIPT", "NOSCRIPT", "OPTION"].includes(element.tagName) || !isSeen(element)) continue;
      const style = getComputedStyle(element);
      const behind = background(element);
      const [one, other] = [luminance(over(parse(style.color), behind)), luminance(behind)].sort((a, b) => b - a);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      found.push({text: walk.currentNode.data.trim().slice(0, 40), ratio: (one + 0.05) / (other + 0.05), least: isLarge ? 3 : 4.5});
    }
    return found;
  };

  // 1.4.10: what reaches beyond the width of the window, and is not cut off by what it is in.
  const overflowing = () => [...document.querySelectorAll("body *")].filter((element) => {
    const box = element.getBoundingClientRect();
    return isSeen(element) && !element.closest("svg") && box.right > document.documentElement.clientWidth + 1;
  }).map((element) => `${element.tagName}.${element.className} ${element.textContent.slice(0, 40)}`);

  // Texts of which something is cut off; what may be is cut on purpose, and whole elsewhere.
  const clipped = () => [...document.querySelectorAll(".tile, .tile dd, .card, td, th, .tag, .pill, .bar li, .notice")].filter(isSeen).filter((element) =>
    element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
    .map((element) => `${element.className} ${element.textContent.slice(0, 40)}`);

  // Pairs of texts beside each other that lie one over the other.
  const overlapping = () => {
    const found = [];
    for (const parent of document.querySelectorAll(".top, .facts, .actions, .title, .line, .end, .bar, .tile dd, tr, .filter")) {
      const boxes = [...parent.children].filter(isSeen).map((child) => [child, child.getBoundingClientRect()]);
      for (let i = 0; i < boxes.length; ++i) {
        for (let k = i + 1; k < boxes.length; ++k) {
          const [a, b] = [boxes[i][1], boxes[k][1]];
          const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          if (wide > 1 && high > 1) found.push(`${boxes[i][0].textContent.slice(0, 30)} | ${boxes[k][0].textContent.slice(0, 30)}`);
        }
      }
    }
    return found;
  };

  // 2.5.8: what can be pressed is large enough, unless it stands in a line of text.
  const small = () => [...document.querySelectorAll("button, select, input, summary")].filter(isSeen).filter((element) => {
    const box = element.getBoundingClientRect();
    return box.height < 19.5 || box.width < 24;
  }).map((element) => element.outerHTML.slice(0, 80));

  // What has the focus, and whether that is to be seen.
  const focused = () => {
    const element = document.activeElement;
    if (!element || element === document.body) return null;
    const style = getComputedStyle(element);
    return {what: element.id || element.textContent.trim().slice(0, 40) || element.tagName, tag: element.tagName,
            ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2};
  };

  return {contrasts, overflowing, clipped, overlapping, small, focused};
})()
