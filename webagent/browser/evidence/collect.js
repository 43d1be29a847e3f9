async function (mostMs) {
  const isNode = (each) => each && each.nodeType;
  const given = isNode(this) ? [this] : Array.from(this).filter(isNode);
  const all = new Set();
  for (const each of given) {
    if (each.nodeType === Node.ELEMENT_NODE) all.add(each);
    if (each.querySelectorAll) each.querySelectorAll("*").forEach((inner) => all.add(inner));
  }
  const pictures = [];
  for (const element of all) {
    if (element instanceof HTMLImageElement || element.matches("input[type=image]")) {
      pictures.push([element, ""]);
    }
    const background = getComputedStyle(element).backgroundImage;
    for (const [, , url] of background.matchAll(/url\((["']?)(.*?)\1\)/g)) {
      pictures.push([element, url]);
    }
  }
  const images = pictures.map(([element]) => element).filter((each) => each.decode);
  for (const image of images) image.loading = "eager";
  const decoded = Promise.allSettled(images.map((image) => image.decode()));
  await Promise.race([decoded, new Promise((resolve) => setTimeout(resolve, mostMs))]);
  return pictures.filter(([element, url]) => url || !element.decode || element.naturalWidth);
}
