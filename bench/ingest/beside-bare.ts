import type { Program } from '../lib/programs.ts'
import type { RequestTemplate } from '../lib/request-template.ts'
import { startBare } from '../lib/servers.ts'
import type { Outcome } from '../lib/table.ts'
import { compare, type Target } from './compare.ts'
import { type Bench, type Load, type RoundResult, runRounds } from './rounds.ts'

interface Comparison {
  scenario: string
  request: RequestTemplate
  /** Starts a program with the sites that the load is for. */
  start: (program: Program) => Promise<Pick<Load, 'server' | 'keys' | 'done'>>
  target: (ofProgram: readonly RoundResult[]) => Target
}

/**
 * Loads the bare server and each program in turn. Another checkout than this one has a row of its own, named after it.
 *
 * @returns with what each round measured of this checkout
 */
export async function compareWithBare(
  bench: Bench,
  { scenario, request, start, target }: Comparison,
): Promise<{ outcome: Outcome; rounds: readonly RoundResult[] }> {
  const bare = await startBare(bench.session)
  const loads: Record<string, Load> = {}
  for (const program of bench.programs) {
    const load = { request, ...(await start(program)) }
    loads.bare ??= { request, keys: load.keys, server: bare }
    loads[program.name] = load
  }
  const results = await runRounds(bench, loads)
  const outcome: Outcome = { measurements: [], checks: [] }
  const roundsOf = (name: string): readonly RoundResult[] => results[name] ?? []
  for (const { name, label } of bench.programs) {
    const rounds = roundsOf(name)
    const { measurements, checks } = compare(scenario + label, roundsOf('bare'), rounds, target(rounds))
    outcome.measurements.push(...measurements)
    outcome.checks.push(...checks)
  }
  return { outcome, rounds: roundsOf(bench.programs.at(-1)?.name ?? '') }
}
