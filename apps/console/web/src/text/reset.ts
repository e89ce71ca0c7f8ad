export const reset = {
  title: 'Set a new password',
  lead: 'All your sessions end, and you log in with the new password.',
  password: 'New password',
  hint: 'At least 12 characters.',
  submit: 'Set the password',
  busy: 'Setting the password',
  invalid: {
    title: 'This link is not valid',
    text: 'It was used or replaced, or it is older than 30 minutes. Ask for a new one.',
  },
  forgot: {
    title: 'Forgot your password?',
    lead: 'We mail you a link to set a new one, if you have verified this e-mail.',
    email: 'E-mail',
    submit: 'Mail me a link',
    busy: 'Asking',
    back: 'Back to the log-in',
    asked: {
      title: 'Look into your mail',
      text: 'If you have verified this e-mail, a link is on its way. It works once, for 30 minutes. If none comes, ask whoever runs Tollkeeper.',
    },
  },
  done: {
    title: 'Your password is set',
    text: 'This is what you log in with.',
    logIn: 'Log in',
  },
};
