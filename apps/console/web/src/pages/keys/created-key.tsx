import { type Api, useRead } from '../../api/api.ts';
import { keys } from '../../text/keys.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Tag } from '../../ui/parts.tsx';
import ui from '../../ui/ui.module.css';
import { firstEvent } from './first-event.ts';

const words = keys.created;

/** Shows a new key, this once, with a command to try it. */
export function CreatedKey({ created, onClose }: { created: Api.CreatedWorkspaceKey; onClose: () => void }) {
  const mayReport = created.role !== 'read_only';
  const command = firstEvent(location.origin, created.api_key);
  const read = useRead('GET /api/v1/management/workspace-keys', {}, { live: mayReport });
  const isUsed = read.data?.items.some(({ id, last_used_at }) => id === created.id && last_used_at !== null) ?? false;
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
            <p role="status">{isUsed ? <Tag tone="ok">{words.seen}</Tag> : words.waiting}</p>
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
