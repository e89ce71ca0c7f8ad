import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { accountQuery } from '../../app/account.tsx';
import { LoginForm } from '../../app/login-form.tsx';
import { Mark } from '../../app/mark.tsx';
import css from '../../app/shell.module.css';
import { text } from '../../text/index.ts';
import ui from '../../ui/ui.module.css';

export function LoginPage() {
  const { next } = useSearch({ from: '/login' });
  const navigate = useNavigate();
  const client = useQueryClient();
  return (
    <main className={css['door']}>
      <span className={css['brand']}>
        <Mark />
        {text.common.product}
      </span>
      <section className={ui['card']}>
        <div className={css['form']}>
          <div>
            <h1>{text.login.title}</h1>
            <p className={ui['hint']}>{text.login.lead}</p>
          </div>
          <LoginForm
            onDone={(account) => {
              client.clear();
              client.setQueryData(accountQuery.queryKey, account);
              void navigate({ href: next ?? '/', replace: true });
            }}
          />
        </div>
      </section>
    </main>
  );
}
