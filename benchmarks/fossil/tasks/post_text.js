(async () => {
        const get = async path => await (await fetch(path)).text();
        const timeline = await get("/timeline?y=f&n=4");
        const name = timeline.match(/\/(?:info|forumpost)\/([0-9a-f]{10,64})/)[1];
        const written = await get("/raw/" + name);
        const text = written.match(/\nW \d+\n([\s\S]*)\nZ [0-9a-f]{32}\n$/)[1];
        return text.replace(/\r/g, "").trim();
    })()
