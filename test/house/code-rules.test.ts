import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'
import { type Finding, type Findings, lint, type Sources, typeCheck } from './trial-project.ts'

/** A rule of the house, sources that break it (each must be reported, for nothing else) and sources that do not. */
interface Example {
  rule: string
  broken: Sources
  kept: Sources
}

const example = (rule: string, broken: string, kept: string, file = rule): Example => ({
  rule,
  broken: { [`src/${file}.ts`]: broken },
  kept: { [`src/${file}.ts`]: kept },
})

/** A rule that holds in some places only: the same source breaks it in one and keeps it in the other. */
const exampleByPlace = (
  rule: string,
  source: string,
  brokenAt: readonly string[],
  keptAt: readonly string[],
): Example => ({
  rule,
  broken: Object.fromEntries(brokenAt.map((path) => [path, source])),
  kept: Object.fromEntries(keptAt.map((path) => [path, source])),
})

const lines = (count: number) => Array.from({ length: count }, (_, n) => `export const line${n} = ${n}\n`).join('')
const work = 'async function work(): Promise<boolean> {\n  return true\n}\n'

/** Each engine's driver is used in its own folder alone. A file can prove one rule only, so they share the root files. */
const ENGINES = [
  { folder: 'store/sqlite', driver: 'node:sqlite', file: 'sqlite.ts', roots: ['app', 'config-values'] },
  { folder: 'store/postgres', driver: 'pg', file: 'postgres.ts', roots: ['main', 'config'] },
]

const LINT_EXAMPLES: readonly Example[] = [
  example('noExplicitAny', 'export const value: any = 1\n', 'export const value: unknown = 1\n'),
  example(
    'noNonNullAssertion',
    'export const first = (list: string[]) => list[0]!.length\n',
    'export const first = (list: string[]) => list[0]?.length\n',
  ),
  example(
    'noFloatingPromises',
    `${work}export function start(): void {\n  work()\n}\n`,
    `${work}export async function start(): Promise<void> {\n  await work()\n}\n`,
  ),
  example(
    'noMisusedPromises',
    `${work}export function start(): number {\n  if (work()) return 1\n  return 2\n}\n`,
    `${work}export async function start(): Promise<number> {\n  if (await work()) return 1\n  return 2\n}\n`,
  ),
  {
    rule: 'noImportCycles',
    broken: {
      'src/lib/hen.ts': "import { egg } from './egg.ts'\nexport const hen = () => egg\n",
      'src/lib/egg.ts': "import { hen } from './hen.ts'\nexport const egg = () => hen\n",
    },
    kept: {
      'src/lib/hen.ts': "import { egg } from './egg.ts'\nexport const hen = () => egg\n",
      'src/lib/egg.ts': 'export const egg = 1\n',
    },
  },
  {
    rule: 'noImportCycles',
    broken: {
      'src/lib/bird.ts': "import type { nest } from './nest.ts'\nexport interface Bird {\n  lays: typeof nest\n}\n",
      'src/lib/nest.ts': "import type { Bird } from './bird.ts'\nexport const nest = (bird: Bird) => bird\n",
    },
    kept: {
      'src/lib/bird.ts': "import { type Bird, nest } from './nest.ts'\nexport const lay = (bird: Bird) => nest(bird)\n",
      'src/lib/nest.ts': 'export interface Bird {\n  name: string\n}\nexport const nest = (bird: Bird) => bird\n',
    },
  },
  example(
    'noUnusedImports',
    "import { join } from 'node:path'\nexport const path = 'a'\n",
    "import { join } from 'node:path'\nexport const path = join('a')\n",
  ),
  example('noUnusedVariables', 'const unused = 1\nexport const used = 2\n', 'const used = 1\nexport { used }\n'),
  example(
    'noUndeclaredDependencies',
    "import leftPad from 'left-pad'\nexport const padded = leftPad('a')\n",
    "import fastify from 'fastify'\nexport const app = fastify()\n",
  ),
  exampleByPlace(
    'noUndeclaredDependencies',
    "export { check } from 'fast-check'\n",
    ['src/lib/only-for-development.ts'],
    ['test/only-for-development.ts', 'bench/only-for-development.ts', 'scripts/only-for-development.ts'],
  ),
  example(
    'useImportType',
    "import { Stats } from 'node:fs'\nexport type S = Stats\n",
    "import type { Stats } from 'node:fs'\nexport type S = Stats\n",
  ),
  example('useNodejsImportProtocol', "export { join } from 'path'\n", "export { join } from 'node:path'\n"),
  example('noEnum', 'export enum Mode {\n  On = 1,\n}\n', "export type Mode = 'on' | 'off'\n"),
  example(
    'noParameterProperties',
    'export class Point {\n  constructor(readonly x: number) {}\n}\n',
    'export class Point {\n  readonly x: number\n  constructor(x: number) {\n    this.x = x\n  }\n}\n',
  ),
  example('noNamespace', 'export namespace Room {\n  export const wall = 1\n}\n', 'export const Room = { wall: 1 }\n'),
  example('noDefaultExport', 'export default 1\n', 'export const one = 1\n'),
  example('noCommonJs', "export const path = require('node:path')\n", "export * as path from 'node:path'\n"),
  {
    rule: 'noSkippedTests',
    broken: { 'test/skipped.test.ts': "import { test } from 'node:test'\ntest.skip('later', () => {})\n" },
    kept: { 'test/skipped.test.ts': "import { test } from 'node:test'\ntest('now', () => {})\n" },
  },
  {
    rule: 'noFocusedTests',
    broken: { 'test/focused.test.ts': "import { test } from 'node:test'\ntest.only('me', () => {})\n" },
    kept: { 'test/focused.test.ts': "import { test } from 'node:test'\ntest('me too', () => {})\n" },
  },
  {
    rule: 'noExcessiveLinesPerFile',
    broken: { 'src/lib/long.ts': lines(301) },
    kept: { 'src/lib/long.ts': lines(300) },
  },
  exampleByPlace(
    'noConsole',
    "console.log('hello')\n",
    ['src/lib/loud.ts', 'src/ingest/loud.ts', 'src/loud.ts'],
    ['src/cli/loud.ts', 'scripts/loud.ts', 'bench/loud.ts', 'test/loud.ts'],
  ),
  exampleByPlace(
    'noProcessEnv',
    'export const port = process.env.PORT\n',
    ['src/lib/env.ts', 'src/store/env.ts', 'src/http/env.ts', 'src/env.ts'],
    ['src/config.ts', 'src/main.ts', 'src/cli/env.ts', 'test/env.ts', 'bench/env.ts', 'scripts/env.ts'],
  ),
  ...ENGINES.map(({ folder, driver, file, roots }) =>
    exampleByPlace(
      'noRestrictedImports',
      `export * from '${driver}'\n`,
      [
        ...[
          'lib',
          'store',
          'store/migrations',
          ...ENGINES.map((engine) => engine.folder).filter((other) => other !== folder),
          'cluster',
          'rollups',
          'http',
          'management',
          'ingest',
          'operations',
          'analytics',
          'dashboard',
        ].map((room) => `src/${room}/${file}`),
        `src/cli/${file}`,
        ...roots.map((root) => `src/${root}.ts`),
      ],
      [`src/${folder}/${file}`],
    ),
  ),
]

/** The compiler names rules by number: 1294 is `erasableSyntaxOnly`, without which Node could not run the source. */
const TYPE_EXAMPLES: readonly Example[] = [
  example('TS1294', 'export enum Mode {\n  On = 1,\n}\n', "export type Mode = 'on' | 'off'\n", 'enum'),
  example(
    'TS1294',
    'export class Point {\n  constructor(readonly x: number) {}\n}\n',
    'export class Point {\n  readonly x: number\n  constructor(x: number) {\n    this.x = x\n  }\n}\n',
    'parameter-property',
  ),
  example(
    'TS1294',
    'export namespace Room {\n  export const wall = 1\n}\n',
    'export const Room = { wall: 1 }\n',
    'namespace',
  ),
  example('TS7006', 'export const twice = (n) => n * 2\n', 'export const twice = (n: number) => n * 2\n', 'strict'),
  example(
    'TS2532',
    'export const first = (list: string[]) => list[0].length\n',
    'export const first = (list: string[]) => list[0]?.length\n',
    'unchecked-index',
  ),
  example(
    'TS2375',
    'export const options: { port?: number } = { port: undefined }\n',
    'export const options: { port?: number } = {}\n',
    'exact-optional',
  ),
  example('TS2835', "export * from './target'\n", "export * from './target.ts'\n", 'import-without-extension'),
]

function allSources(examples: readonly Example[], side: 'broken' | 'kept'): Sources {
  const sources: Record<string, string> = {}
  for (const [path, source] of examples.flatMap((each) => Object.entries(each[side]))) {
    assert.ok(!(path in sources), `${path} belongs to two examples`)
    sources[path] = source
  }
  return sources
}

async function proveEach(
  checker: string,
  examples: readonly Example[],
  check: (sources: Sources) => Promise<Findings>,
): Promise<void> {
  const target = { 'src/target.ts': 'export const target = 1\n' }
  const broken = await check({ ...target, ...allSources(examples, 'broken') })
  const kept = await check({ ...target, ...allSources(examples, 'kept') })
  for (const each of examples) {
    for (const path of Object.keys(each.broken)) {
      test(`${checker} reports ${path} for ${each.rule} and for nothing else`, () => {
        assert.deepEqual(rulesOf(broken.get(path)), [each.rule])
      })
    }
    for (const path of Object.keys(each.kept)) {
      test(`${checker} has nothing against ${path} that keeps ${each.rule}`, () => {
        assert.deepEqual(kept.get(path) ?? [], [])
      })
    }
  }
}

const rulesOf = (findings: readonly Finding[] = []) => [...new Set(findings.map((finding) => finding.rule))]

await proveEach('Biome', LINT_EXAMPLES, lint)
await proveEach('The compiler', TYPE_EXAMPLES, typeCheck)

test('every rule that biome.json names is proved here', async () => {
  const settings = await readFile(join(REPOSITORY, 'biome.json'), 'utf8')
  const named = [...settings.matchAll(/"((?:no|use)[A-Z]\w+)": (?:"error"|\{)/g)].map(([, name]) => name)
  assert.ok(named.length > 15, 'the rules could not be read from biome.json')
  const proved = new Set(LINT_EXAMPLES.map((each) => each.rule))
  assert.deepEqual(
    named.filter((name) => name === undefined || !proved.has(name)),
    [],
  )
})
