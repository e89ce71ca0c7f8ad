import { useRead } from '../api/api.ts';
import { reportedTwice as words } from '../text/reported-twice.ts';
import { Card } from './parts.tsx';

/** Warns of calls that two senders seem to report, which then count twice. Nothing if there are none. */
export function ReportedTwice() {
  const answer = useRead('GET /api/v1/dashboard/reported-twice', {});
  const items = answer.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Card title={words.title}>
      <ul>
        {items.map((item) => (
          <li key={`${item.program} ${item.agent_id} ${item.other_agent_id}`}>{words.item(item)}</li>
        ))}
      </ul>
      <p>{words.advice}</p>
    </Card>
  );
}
