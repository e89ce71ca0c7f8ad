import { type Api, useRead } from '../../api/api.ts';
import { text } from '../../text/index.ts';
import { sso } from '../../text/sso.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Ago } from '../../ui/figures.tsx';
import { Loaded, Note } from '../../ui/parts.tsx';

const words = sso.report;

/** The claims from a member's last log-ins by providers, and the resulting role in this workspace. */
export function SsoDialog({ member, onClose }: { member: Pick<Api.Member, 'user_id' | 'name'>; onClose: () => void }) {
  const reports = useRead('GET /api/v1/members/{user_id}/sso', { path: { user_id: member.user_id } });
  return (
    <Dialog title={words.title(member.name)} side onClose={onClose}>
      <Loaded query={reports} height={320}>
        {({ items }) =>
          items.length === 0 ? (
            <Note title={words.none} />
          ) : (
            items.map((report) => <Report key={report.provider} report={report} />)
          )
        }
      </Loaded>
    </Dialog>
  );
}

function Report({ report }: { report: Api.MappingReport }) {
  const { button_text: provider, issuer, subject, logged_in_at: at, grant, claims, claim_names: names } = report;
  return (
    <section>
      <h3>{provider}</h3>
      <Facts
        facts={[
          [words.at, <Ago key="at" at={at} />],
          [words.issuer, issuer],
          [words.subject, subject],
          [
            words.grant,
            grant === null ? words.notGranted : words.granted(text.common.roles[grant.role], grant.claim, grant.value),
          ],
        ]}
      />
      <h4>{words.claims}</h4>
      <Facts facts={claims.map(({ name, values }) => [name, shown(values)] as const)} />
      <h4>{words.others}</h4>
      <p>{names.join(', ')}</p>
    </section>
  );
}

function shown(values: readonly string[] | null): string {
  if (values === null) return words.notSent;
  return values.length === 0 ? words.empty : values.join(', ');
}
