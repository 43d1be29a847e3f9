(async () => {
    const base = BASE, kind = {"Content-Type": "application/json"};
    const answered = async (reply) => {
        if (!reply.ok) throw new Error(`${reply.url} answered ${reply.status}`);
        return reply.json();
    };
    const asked = async (url, token) => answered(await fetch(
        url, {headers: {...kind, Authorization: `Bearer ${token}`}, credentials: "omit"}));
    const token = await answered(await fetch(base + "/rest/default/V1/integration/admin/token",
        {method: "POST", headers: kind, credentials: "omit", body: ACCOUNT}));
    BODY
})()
