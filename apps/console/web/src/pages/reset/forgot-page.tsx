import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { callApi } from '../../api/api.ts';
import { Door } from '../../app/door.tsx';
import { text } from '../../text/index.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/field.tsx';
import ui from '../../ui/ui.module.css';

const words = text.reset.forgot;

/** Requests a link by e-mail. The page says the same for every e-mail. */
export function ForgotPage() {
  const [email, setEmail] = useState('');
  const ask = useMutation({
    mutationFn: () => callApi(undefined, 'POST /api/v1/auth/forgot', { body: { email } }),
  });

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    ask.mutate();
  }

  return (
    <Door title={ask.isSuccess ? words.asked.title : words.title} lead={ask.isSuccess ? words.asked.text : words.lead}>
      {!ask.isSuccess && (
        <form className={ui['form']} onSubmit={onSubmit}>
          <TextField
            label={words.email}
            type="email"
            autoComplete="email"
            required
            autoFocus
            maxLength={254}
            value={email}
            onChange={({ target }) => setEmail(target.value)}
          />
          <Problem error={ask.error} />
          <Button type="submit" look="primary" busy={ask.isPending && words.busy}>
            {words.submit}
          </Button>
        </form>
      )}
      <Link to="/login">{words.back}</Link>
    </Door>
  );
}
