import { useState } from 'react';
import { type Api, useRead } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Tag } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { AGENT, firstEvent } from './first-event.ts';

const words = text.keys.created;

/** A new key, the only time that it is to be seen, with a command that tries it. */
export function CreatedKey({ created, onClose }: { created: Api.CreatedWorkspaceKey; onClose: () => void }) {
  const mayReport = created.role !== 'read_only';
  const command = firstEvent(location.origin, created.api_key);
  const top = useRead('GET /api/v1/dashboard/top-agents', { query: { range: '15min', limit: 100 } }, { live: true });
  const lastSeen = top.data?.items.find(({ agent_id }) => agent_id === AGENT)?.last_seen_at ?? '';
  const [before, setBefore] = useState<string>();
  if (before === undefined && top.data !== undefined) setBefore(lastSeen);
  const seen = before !== undefined && lastSeen > before;
  return (
    <Dialog title={words.title(created.name)} stays onClose={onClose}>
      <div className={ui['stack']}>
        <p>{words.once}</p>
        <div>
          <code className={ui['code']}>{created.api_key}</code>
          <CopyButton value={created.api_key} label={words.copyKey} />
        </div>
        {mayReport && (
          <>
            <section>
              <h3>{words.try}</h3>
              <code className={ui['code']}>{command}</code>
              <CopyButton value={command} label={words.copyCommand} />
            </section>
            <p role="status">{seen ? <Tag tone="ok">{words.seen}</Tag> : words.waiting}</p>
          </>
        )}
      </div>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          {words.done}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
