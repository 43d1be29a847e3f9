(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [document.title];
  while (walker.nextNode()) {
    const holder = walker.currentNode.parentElement;
    if (holder && !holder.closest("option, script, style, noscript, textarea")) {
      found.push(walker.currentNode.data);
    }
  }
  for (const field of document.querySelectorAll("input, textarea")) {
    if (!["checkbox", "radio", "password"].includes(field.type)) found.push(field.value);
  }
  for (const list of document.querySelectorAll("select")) {
    for (const option of list.selectedOptions) found.push(option.text);
  }
  return found.join("\n");
})()
