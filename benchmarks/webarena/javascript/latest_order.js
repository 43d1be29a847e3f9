    const query = "searchCriteria[sortOrders][0][field]=created_at"
        + "&searchCriteria[sortOrders][0][direction]=DESC&searchCriteria[pageSize]=1";
    const found = await asked(base + "/rest/V1/orders?" + query, token);
    return base + "/sales/order/view/order_id/" + parseInt(found.items[0].increment_id, 10) + "/";
