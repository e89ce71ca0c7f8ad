/** Tells the benchmark that started this process where it listens, and ends with the benchmark. */
export function announce(address: unknown): void {
  process.on('disconnect', () => process.exit());
  process.send?.(address);
}
