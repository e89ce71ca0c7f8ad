export const reset = {
  title: 'Set a new password',
  lead: 'This ends all your sessions. Log in again with the new password.',
  password: 'New password',
  hint: 'At least 12 characters.',
  submit: 'Set password',
  busy: 'Setting password',
  invalid: {
    title: 'This link is not valid',
    text: 'It was used or replaced, or it is older than 30 minutes. Ask for a new one.',
  },
  forgot: {
    title: 'Forgot your password?',
    lead: 'Enter your verified e-mail. We send you a link to set a new password.',
    email: 'E-mail',
    submit: 'Send link',
    busy: 'Sending link',
    back: 'Back to login',
    asked: {
      title: 'Check your e-mail',
      text: 'If this address is verified, a link is on its way. It works once, within 30 minutes. If nothing arrives, ask your Tollkeeper administrator.',
    },
  },
  done: {
    title: 'Password set',
    text: 'Log in with this login name.',
    logIn: 'Log in',
  },
};
