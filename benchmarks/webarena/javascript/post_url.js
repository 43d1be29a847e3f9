(() => {
    const parts = location.pathname.split("/");
    if (parts.length < 4 || parts[1] !== "f") return location.href;
    return `${location.protocol}//${location.host}/f/${parts[2]}/${parts[3]}/`;
})()
