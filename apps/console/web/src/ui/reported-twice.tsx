import { useRead } from '../api/api.ts';
import { useWorkspace } from '../app/account.tsx';
import { clock } from '../format/time.ts';
import { reportedTwice as words } from '../text/reported-twice.ts';
import { Card } from './parts.tsx';

/** Warns of calls that two senders seem to report, which then count twice. Nothing if there are none. */
export function ReportedTwice() {
  const { timezone } = useWorkspace();
  const { data } = useRead('GET /api/v1/dashboard/reported-twice', {});
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Card title={words.title}>
      <ul>
        {data.items.map((item) => (
          <li key={`${item.program} ${item.agent_id} ${item.other_agent_id}`}>
            {words.item(item, clock(data.window.start, timezone))}
          </li>
        ))}
      </ul>
      <p>{words.advice}</p>
    </Card>
  );
}
