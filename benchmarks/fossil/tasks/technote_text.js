(async () => {
        const get = async path => await (await fetch(path)).text();
        const timeline = await get("/timeline?y=e&n=4");
        const name = timeline.match(/\/technote\/([0-9a-f]{10,64})/)[1];
        const form = await get("/technoteedit?name=" + name);
        const page = new DOMParser().parseFromString(form, "text/html");
        return page.querySelector("textarea[name=w]").value.replace(/\r/g, "").trim();
    })()
