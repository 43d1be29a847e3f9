    const read = (node, level) => ({
        username: node.querySelector(".fg-inherit").outerText,
        score: parseInt(node.querySelector(".vote__net-score").outerText),
        content: node.querySelector(".comment__content").outerText,
        time: new Date(node.querySelector(
            ".comment__main > header > h1 > span > time").dateTime).getTime(),
        children: [...node.querySelectorAll(".comment")]
            .filter((child) => parseInt(child.getAttribute("data-level")) === level + 1)
            .map((child) => read(child, level + 1)),
    });
    let latest = -Infinity, found = null;
    const take = (node, child) => {
        if (child.time > latest) { found = node; latest = child.time; }
    };
