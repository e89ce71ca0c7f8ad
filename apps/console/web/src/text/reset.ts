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
  done: {
    title: 'Your password is set',
    text: 'This is what you log in with.',
    logIn: 'Log in',
  },
};
