/** For `npm run lint`: no file imports itself by way of others, not even for a type. */
export default {
  forbidden: [{ name: 'no-circular', severity: 'error', from: {}, to: { circular: true } }],
  options: {
    // As they are written: imports of types alone count.
    tsPreCompilationDeps: true,
    // The generated types of `google.protobuf.Struct` refer to each other, as its messages do.
    exclude: '(^|/)(dist|fixtures|node_modules)/|/gen/google/protobuf/',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import'] },
  },
};
