import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { type Api, useChange } from '../../api/api.ts';
import { useMay } from '../../app/account.tsx';
import { connect as words } from '../../text/connect.ts';
import type { Sender } from '../../text/sender.ts';
import { SENDERS } from '../../text/senders.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { explain } from '../../ui/explain.ts';
import { Card, PageHead } from '../../ui/parts.tsx';
import { ReportedTwice } from '../../ui/reported-twice.tsx';
import { toast } from '../../ui/toasts.tsx';
import ui from '../../ui/ui.module.css';
import { Arrivals } from './arrivals.tsx';
import css from './connect.module.css';
import { SenderTabs } from './sender-tabs.tsx';

/** Settings for each sender, with a new key in them, and what arrives from it. */
export function ConnectPage() {
  const { sender: chosen } = useSearch({ from: '/account/w/$slug/connect' });
  const navigate = useNavigate({ from: '/w/$slug/connect' });
  const [key, setKey] = useState<Api.CreatedWorkspaceKey | null>(null);
  const panel = useId();
  const sender = SENDERS.find(({ id }) => id === chosen) ?? SENDERS[0]!;
  const choose = (id: string) =>
    void navigate({ search: (search) => ({ ...search, sender: id }), replace: true, resetScroll: false });
  return (
    <div className={ui['stack']}>
      <PageHead title={words.title} line={words.line} />
      <ReportedTwice />
      <KeyCard sender={sender} created={key} onCreate={setKey} />
      <Card>
        <SenderTabs chosen={sender} panel={panel} onChoose={choose} />
        <div id={panel} role="tabpanel" aria-labelledby={`${panel}-${sender.id}`} tabIndex={-1}>
          <Settings sender={sender} apiKey={key?.api_key ?? words.placeholder} />
        </div>
      </Card>
      <Arrivals sender={sender} created={key} />
    </div>
  );
}

interface KeyCardProps {
  sender: Sender;
  created: Api.CreatedWorkspaceKey | null;
  onCreate: (key: Api.CreatedWorkspaceKey) => void;
}

/** Creates a key. It stays in the page's memory only, so a reload forgets it. */
function KeyCard({ sender, created, onCreate }: KeyCardProps) {
  const mayCreate = useMay('owner');
  const create = useChange('POST /api/v1/management/workspace-keys', ['GET /api/v1/management/workspace-keys']);
  return (
    <Card title={words.key.title}>
      <div className={css['key']}>
        {created === null ? (
          <>
            <p>{words.key.none(words.placeholder)}</p>
            {mayCreate ? (
              <Button
                look="primary"
                onClick={async () => {
                  const body = { name: sender.name, role: 'developer', labels: {} } as const;
                  await create.mutateAsync({ body }).then(onCreate, (error: unknown) => toast(explain(error).message));
                }}
              >
                {words.key.create}
              </Button>
            ) : (
              <p>{words.key.ask}</p>
            )}
          </>
        ) : (
          <>
            <p role="status">{words.key.created(created.name)}</p>
            <div className={css['setting']}>
              <code className={ui['code']}>{created.api_key}</code>
              <CopyButton value={created.api_key} label={words.key.copy} />
            </div>
          </>
        )}
      </div>
    </Card>
  );
}

function Settings({ sender, apiKey }: { sender: Sender; apiKey: string }) {
  return (
    <div className={css['settings']}>
      <h2>{words.settings.title(sender.name)}</h2>
      {sender.settings({ url: location.origin, key: apiKey }).map(({ place, text }) => (
        <section key={place} className={css['setting']}>
          <div className={css['place']}>
            <h3>{place}</h3>
            <CopyButton value={text} label={words.settings.copy(place)} />
          </div>
          <code className={ui['code']}>{text}</code>
        </section>
      ))}
      <ul className={css['notes']}>
        {sender.notes.map((note) => (
          <li key={note}>{note}</li>
        ))}
      </ul>
    </div>
  );
}
