import { Link } from '@tanstack/react-router';
import { useWorkspace } from '../app/account.tsx';
import css from './ui.module.css';

/** The name of an agent, which leads to its page; its id stands beside a name that is another. */
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
