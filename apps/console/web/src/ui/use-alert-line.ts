import { type Api, useRead } from '../api/api.ts';
import { alertLine } from '../text/alerts.ts';

/** What happened, with the names of the first thousand agents and the ids of others. */
export function useAlertLine(): (alert: Api.Alert) => string {
  const { data } = useRead('GET /api/v1/agents', { query: { limit: 1000 } });
  const names = new Map(data?.items.map(({ agent_id, display_name }) => [agent_id, display_name]));
  return (alert) => alertLine(alert, (id) => names.get(id) ?? id);
}
