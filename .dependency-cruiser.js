/** For `npm run lint`: no file imports itself by way of others, not even for a type. */
export default {
  forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }],
  options: {
    // As they are written: imports of types alone count.
    tsPreCompilationDeps: true,
    exclude: '(^|/)(dist|fixtures|node_modules)/',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import'] },
  },
};
