/** Reports this process's address to the benchmark that started it, and ends with the benchmark. */
export function announce(address: unknown): void {
  process.on('disconnect', () => process.exit());
  process.send?.(address);
}
