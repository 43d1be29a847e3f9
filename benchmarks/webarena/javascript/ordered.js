    const products = [...document.querySelector("#my-orders-table").getElementsByTagName("tbody")]
        .map((body) => {
            const product = {};
            for (const cell of body.getElementsByTagName("td")) {
                const key = cell.className.split(" ")[1];
                product[key] = cell.outerText;
                const list = key === "name" && cell.querySelector("dl");
                if (!list) continue;
                product.options = {};
                for (let at = 0; at < list.children.length; at += 2)
                    product.options[list.children[at].outerText] = list.children[at + 1].outerText;
            }
            return product;
        });
