import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'
import { lint } from './trial-project.ts'

const IMPORTS = /^(?:import|export)\s[^;'"]*?\sfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm
const TYPES_ONLY = /^(?:import|export) type\s/

/** The server's files that a file of the dashboard would take into a browser. */
function serverCodeIn(path: string, source: string): string[] {
  return [...source.matchAll(IMPORTS)].flatMap(([statement, from, alone, dynamic]) => {
    const target = join(dirname(path), from ?? alone ?? dynamic ?? '')
    return target.startsWith('src/') && !TYPES_ONLY.test(statement) ? [target] : []
  })
}

const CASES: readonly [source: string, found: string[]][] = [
  ["import type { Overview } from '../../../src/dashboard/index.ts'\n", []],
  ["export type { Overview } from '../../../src/dashboard/index.ts'\n", []],
  ["import type {\n  Overview,\n  Status,\n} from '../../../src/dashboard/index.ts'\n", []],
  ["import { request } from './client.ts'\nimport { useNow } from '../lib/use-now.ts'\n", []],
  ["import { STATUSES } from '../../../src/dashboard/index.ts'\n", ['src/dashboard/index.ts']],
  // The names go, the import stays.
  ["import { type Status } from '../../../src/dashboard/index.ts'\n", ['src/dashboard/index.ts']],
  ["import '../../../src/dashboard/index.ts'\n", ['src/dashboard/index.ts']],
  ["export * from '../../../src/lib/index.ts'\n", ['src/lib/index.ts']],
  ["const room = await import('../../../src/lib/index.ts')\n", ['src/lib/index.ts']],
]
for (const [source, found] of CASES) {
  test(`${source.trim().replaceAll('\n', ' ')} ${found.length === 0 ? 'is fine' : 'would bring server code along'}`, () => {
    assert.deepEqual(serverCodeIn('web/src/api/overview.ts', source), found)
  })
}

test('the dashboard takes types of the server and nothing else', () => {
  const files = globSync('web/src/**/*.{ts,tsx}', { cwd: REPOSITORY })
  assert.ok(files.length > 20)
  const found = files.flatMap((file) =>
    serverCodeIn(file, readFileSync(join(REPOSITORY, file), 'utf8')).map((target) => `${file}: ${target}`),
  )
  assert.deepEqual(found, [])
})

const FORBIDDEN = [
  '../../../src/http/schemas.ts',
  '../../../src/store/sqlite/engine.ts',
  'node:fs',
  '../../../test/x.ts',
  '../../../testkit/x.ts',
]
const ALLOWED = ['../../../src/http/index.ts', '../ui/x.ts', 'react']
const importing = (paths: readonly string[]) =>
  paths.map((path, n) => `export type { Thing as Thing${n} } from '${path}'\n`).join('')
const findings = await lint({
  'web/src/api/broken.ts': importing(FORBIDDEN),
  'web/src/api/kept.ts': importing(ALLOWED),
})

test('the dashboard enters a room through its index.ts, and nothing that no browser has', () => {
  const refused = (findings.get('web/src/api/broken.ts') ?? []).map(({ rule, line }) => [rule, FORBIDDEN[line - 1]])
  assert.deepEqual(
    refused,
    FORBIDDEN.map((path) => ['noRestrictedImports', path]),
  )
  assert.deepEqual(findings.get('web/src/api/kept.ts') ?? [], [])
})
