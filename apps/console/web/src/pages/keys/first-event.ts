/** A shell command that reports one settled call of one cent by `my-agent`, with the current time and new ids. */
export function firstEvent(origin: string, key: string): string {
  return [
    'ID="first-$(date +%s)"',
    `curl ${origin}/api/v1/events \\`,
    `  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/cloudevents+json' \\`,
    `  -d '{"specversion": "1.0", "id": "'$ID'", "source": "first-event", "type": "spend.settled",`,
    `       "time": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'", "data": {"settlement_id": "'$ID'", "run_id": "'$ID'",`,
    `       "agent_id": "my-agent", "amount_micros": 10000}}'`,
  ].join('\n');
}
