export const spend = { title: 'Spend' };
