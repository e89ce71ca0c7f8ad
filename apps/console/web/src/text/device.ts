export const device = {
  title: 'Confirm a login',
  ask: {
    lead: 'Enter the code that the program shows, such as the command line after tollkeeper login.',
    code: 'Code',
    hint: '8 letters',
    submit: 'Continue',
    busy: 'Looking for the login',
  },
  decide: {
    lead: (name: string) => `A program asks to log in as you, ${name}.`,
    warning: 'Confirm only if you started this login and the program shows the same code. It can then do what you can.',
    code: 'Code',
    program: 'Program',
    address: 'Address',
    unknown: 'unknown',
    asked: 'Requested',
    confirm: 'Confirm login',
    confirming: 'Confirming',
    decline: 'Decline',
    declining: 'Declining',
  },
  confirm: {
    title: 'Login confirmed',
    text: 'Return to the program; it is logged in within seconds. Your settings list its session, and end it.',
  },
  decline: {
    title: 'Login declined',
    text: 'The program was refused. If you did not start this login, you need not do anything else.',
  },
};
