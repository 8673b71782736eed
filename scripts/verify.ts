/**
 * `npm run verify`: all that can be checked without a test. As many checks run at once as there are cores, the longest first, because `tsc` with
 * one thread costs half of the processor time that it costs with four, which all work out the types of the same libraries.
 */
import { runChecks } from './side-by-side.ts'

const TSC = ['node_modules/typescript/bin/tsc', '--checkers', '1']

const CHECKS = [
  TSC,
  [...TSC, '-p', 'web'],
  ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'],
  ['scripts/write-contract.ts', '--check'],
  ['scripts/check-tag.ts'],
  ['scripts/write-backtest-picture.ts', '--check'],
  ['scripts/write-schema.ts', '--check'],
  ['scripts/write-chart-schema.ts', '--check'],
  ['scripts/write-config-docs.ts', '--check'],
  ['scripts/check-docs.ts'],
  ['scripts/write-third-party.ts', '--check'],
  ['scripts/write-benchmarks-page.ts', '--check'],
]

if (!(await runChecks(CHECKS))) process.exitCode = 1
