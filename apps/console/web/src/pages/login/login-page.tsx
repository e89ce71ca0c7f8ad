import { useQueryClient } from '@tanstack/react-query';
import { Link, useLoaderData, useNavigate, useSearch } from '@tanstack/react-router';
import { accountQuery } from '../../app/account.tsx';
import { Door } from '../../app/door.tsx';
import { LoginForm } from '../../app/login-form.tsx';
import { ProviderLinks } from '../../app/providers.tsx';
import css from '../../app/shell.module.css';
import { text } from '../../text/index.ts';
import { sso } from '../../text/sso.ts';

export function LoginPage() {
  const { next = '/' } = useSearch({ from: '/login' });
  // Loaded before the page is drawn, so that nothing on it moves.
  const { items, password_login: passwords, mails_links: mailsLinks } = useLoaderData({ from: '/login' });
  const navigate = useNavigate();
  const client = useQueryClient();
  const form = (
    <>
      <LoginForm
        onDone={(account) => {
          client.clear();
          client.setQueryData(accountQuery.queryKey, account);
          void navigate({ href: next, replace: true });
        }}
      />
      {mailsLinks && <Link to="/forgot">{text.login.forgot}</Link>}
    </>
  );
  return (
    <Door title={text.login.title} lead={text.login.lead}>
      {items.length === 0 ? (
        form
      ) : (
        <>
          <ProviderLinks providers={items} returnTo={next} />
          {passwords === 'none' ? (
            <details className={css['rare']}>
              <summary>{sso.withPassword}</summary>
              {form}
            </details>
          ) : (
            <>
              <p className={css['or']}>{sso.or}</p>
              {form}
            </>
          )}
        </>
      )}
    </Door>
  );
}
