import { useState } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { pauses as words } from '../../text/pauses.ts';
import { Button } from '../../ui/button.tsx';
import { At } from '../../ui/figures.tsx';
import { Card } from '../../ui/parts.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { Resume } from './resume.tsx';

/** Everything that is paused. */
export function usePauses() {
  return useRead('GET /api/v1/pauses', {}, { live: true });
}

/** The pause of the agent, if it has one. */
export function useAgentPause(agentId: string) {
  const query = usePauses();
  return { query, pause: query.data?.items.find(({ scope, value }) => scope === 'agent' && value === agentId) };
}

interface AgentProps {
  agentId: string;
  name: string;
  pause: Api.Pause | undefined;
  /** Whether the form to pause it is open from the start. */
  opens?: boolean;
}

/** Pauses or resumes the agent, for owners and admins. */
export function PauseButton({ agentId, name, pause, opens = false }: AgentProps) {
  const [isOpen, setIsOpen] = useState(opens && pause === undefined);
  if (!useMay('admin')) return null;
  const close = () => setIsOpen(false);
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>{pause === undefined ? words.pause : words.resume}</Button>
      {isOpen && pause === undefined && <PauseDialog agent={{ id: agentId, name }} onClose={close} />}
      {isOpen && pause !== undefined && <Resume pause={pause} name={name} onClose={close} />}
    </>
  );
}

/** Says that the agent is paused, by whom, why and until when. */
export function PauseNotice({ name, pause }: { name: string; pause: Api.Pause | undefined }) {
  if (pause === undefined) return null;
  return (
    <Card title={words.notice(name)}>
      <p>{words.line(pause.paused_by.name, pause.reason)}</p>
      <p>
        {words.until} <At at={pause.until} />
      </p>
    </Card>
  );
}
