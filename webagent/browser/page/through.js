// The way of the mouse through a frame: points of its viewport as points of the one around it, scrolled
// into view. `isAnywhere` says that what lies over them does not matter.

function throughFrame(key, points, isAnywhere) {
  const frame = FRAMES.has(key) && FRAMES.get(key).deref();
  if (!frame || !frame[own.isConnected]) return { error: "is in a frame that is gone" };
  if (!canBeSeen(frame)) return { error: "is in a frame that is hidden" };
  reveal(frame, points[0]);
  const placed = points.map((point) => outward(frame, point));
  if (isAnywhere) return { points: placed };
  const free = placed.filter(({ x, y }) => reaches(frame, elementAt(x, y)));
  if (free.length) return { points: free };
  const hit = elementAt(placed[0].x, placed[0].y);
  return { error: hit ? `is in a frame that is covered by ${calling(hit)}` : "is in a frame, outside the page" };
}

function outward(frame, point) {
  const [[left, top], [scaleX, scaleY]] = [innerCorner(frame), scaleOf(frame)];
  return { ...point, x: left + point.x * scaleX, y: top + point.y * scaleY };
}

// Scrolls everything around the frame until the point of it can be seen.
function reveal(frame, point) {
  for (let holder = flatParent(frame); holder; holder = flatParent(holder)) {
    const box = viewOf(holder);
    const { x, y } = outward(frame, point);
    const left = x < box.left || x >= box.right ? x - (box.left + box.right) / 2 : 0;
    const top = y < box.top || y >= box.bottom ? y - (box.top + box.bottom) / 2 : 0;
    if ((left || top) && canScroll(holder)) holder[own.scrollBy]({ left, top, behavior: "instant" });
  }
}

function canScroll(holder) {
  return holder === document.scrollingElement || getComputedStyle(holder).overflow !== "visible";
}

function viewOf(holder) {
  if (holder === document.scrollingElement) return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  return holder[own.getBoundingClientRect]();
}
