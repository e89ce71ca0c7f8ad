import { useQueryClient } from '@tanstack/react-query';
import { Link, useLoaderData, useNavigate, useSearch } from '@tanstack/react-router';
import { accountQuery } from '../../app/account.tsx';
import { Door } from '../../app/door.tsx';
import { LoginForm } from '../../app/login-form.tsx';
import { text } from '../../text/index.ts';

export function LoginPage() {
  const { next } = useSearch({ from: '/login' });
  const { mails_links: mailsLinks } = useLoaderData({ from: '/login' });
  const navigate = useNavigate();
  const client = useQueryClient();
  return (
    <Door title={text.login.title} lead={text.login.lead}>
      <LoginForm
        onDone={(account) => {
          client.clear();
          client.setQueryData(accountQuery.queryKey, account);
          void navigate({ href: next ?? '/', replace: true });
        }}
      />
      {mailsLinks && <Link to="/forgot">{text.login.forgot}</Link>}
    </Door>
  );
}
