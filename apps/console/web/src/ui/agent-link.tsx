import { Link } from '@tanstack/react-router';
import { useWorkspace } from '../app/account.tsx';
import css from './ui.module.css';

/** The name of an agent, linked to its page, with its id if the name differs. */
export function AgentLink({ id, name = id }: { id: string; name?: string | undefined }) {
  const { slug } = useWorkspace();
  return (
    <>
      <Link to="/w/$slug/agents/$agentId" params={{ slug, agentId: id }} className={css['name']}>
        {name}
      </Link>{' '}
      {name !== id && <span className={css['id']}>{id}</span>}
    </>
  );
}
