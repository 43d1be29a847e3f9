SELECT
  substr(tkt_uuid,1,10) AS '#',
  severity,
  priority,
  status,
  subsystem,
  title
FROM ticket
ORDER BY CASE severity WHEN 'Critical' THEN 0 WHEN 'Severe' THEN 1
  WHEN 'Important' THEN 2 WHEN 'Minor' THEN 3 ELSE 4 END, title
