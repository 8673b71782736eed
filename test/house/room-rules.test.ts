import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { REPOSITORY } from '../../testkit/repository.ts'
import { lint } from './trial-project.ts'

/** A row of the table of rooms: name, what it holds, what it may import. */
const ROW = /^\| `([a-z]+)` \| .+ \| (.+) \|$/gm

/** Who may import whom, as docs/architecture.md says. The lint must allow exactly this. */
const MAY_IMPORT = roomsOf(await readFile(join(REPOSITORY, 'docs/architecture.md'), 'utf8'))

function roomsOf(page: string): Readonly<Record<string, readonly string[]>> {
  const rows = [...page.matchAll(ROW)].map(([, room = '', imports = '']) => ({ room, imports }))
  const all = rows.map(({ room }) => room)
  const named = (imports: string) => [...imports.matchAll(/`([a-z]+)`/g)].map(([, name = '']) => name)
  return Object.fromEntries(
    rows.map(({ room, imports }) => [
      room,
      imports.startsWith('all') ? all.filter((name) => name !== room) : named(imports),
    ]),
  )
}

const ROOMS = Object.keys(MAY_IMPORT)
const CONFIG_FILES = ['config.ts', 'config-setting.ts', 'config-settings.ts', 'config-sign-in.ts', 'config-values.ts']
const ROOT_FILES = ['app.ts', 'main.ts', ...CONFIG_FILES, 'version.ts', 'worker.ts']

const entrance = (room: string) => `${room}/index.ts`
const inside = (room: string) => `${room}/inside.ts`
const others = (room: string) => ROOMS.filter((other) => other !== room)

/** What a file somewhere in `src` may and may not import, as paths from `src`. */
interface Importer {
  path: string
  allowed: readonly string[]
  forbidden: readonly string[]
}

const OUTSIDE = ['../test/outside.ts', '../testkit/outside.ts', '../bench/outside.ts', '../scripts/outside.ts']

function roomImporter(room: string, folder: string): Importer {
  const neighbours = MAY_IMPORT[room] ?? []
  const roots = room === 'cli' ? ROOT_FILES : []
  return {
    path: `${room}/${folder}importer.ts`,
    allowed: [...neighbours.map(entrance), ...roots, entrance(room), inside(room)],
    forbidden: [
      ...others(room)
        .filter((other) => !neighbours.includes(other))
        .map(entrance),
      ...others(room).map(inside),
      ...ROOT_FILES.filter((file) => !roots.includes(file)),
      ...OUTSIDE,
    ],
  }
}

/** A file directly under `src`; all of them stand beside the rooms, and only cli stands above main. */
function rootImporter(path: string, rooms: readonly string[], files: readonly string[]): Importer {
  return {
    path,
    allowed: [...rooms.map(entrance), ...files],
    forbidden: [
      ...ROOMS.filter((room) => !rooms.includes(room)).map(entrance),
      ...ROOMS.map(inside),
      ...ROOT_FILES.filter((file) => file !== path && !files.includes(file)),
      ...OUTSIDE,
    ],
  }
}

const SLICES = ROOMS.filter((room) => room !== 'cli')

/** Folders of each room that has several; those of the store stand for engines, and may not know each other. */
const folders = await Promise.all(
  SLICES.filter((room) => room !== 'lib' && room !== 'store').map(async (room) => {
    const entries = await readdir(join(REPOSITORY, 'src', room), { withFileTypes: true })
    const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    return { room, names: names.length > 1 ? names : [] }
  }),
)

const importers: readonly Importer[] = [
  ...ROOMS.map((room) => roomImporter(room, '')),
  // A folder in a room must not open a way round its rule.
  ...ROOMS.map((room) => roomImporter(room, 'folder/')),
  ...['sqlite/', 'postgres/'].map((folder) => ({
    ...roomImporter('store', folder),
    allowed: [...roomImporter('store', folder).allowed, 'store/migrations/index.ts'],
  })),
  // Files of a room import each other freely, across its folders.
  ...folders.flatMap(({ room, names }) =>
    names.map((name) => ({
      ...roomImporter(room, `${name}/`),
      allowed: [...roomImporter(room, `${name}/`).allowed, ...names.map((other) => `${room}/${other}/inside.ts`)],
    })),
  ),
  {
    path: 'store/migrations/0001-importer.ts',
    allowed: ['store/migrations/index.ts'],
    forbidden: [...ROOMS.map(entrance), inside('store'), 'store/sqlite/inside.ts', 'config.ts', ...OUTSIDE],
  },
  ...[...CONFIG_FILES, 'version.ts'].map((file) =>
    rootImporter(
      file,
      ['lib', 'outbound'],
      [...CONFIG_FILES, 'version.ts'].filter((other) => other !== file),
    ),
  ),
  rootImporter('app.ts', SLICES, [...CONFIG_FILES, 'version.ts', 'worker.ts']),
  rootImporter('main.ts', SLICES, ['app.ts', ...CONFIG_FILES, 'version.ts', 'worker.ts']),
  rootImporter('worker.ts', SLICES, [...CONFIG_FILES, 'version.ts']),
  ...['bench', 'bench/test', 'trials', 'trials/test', 'scripts'].map((folder) => ({
    path: `../${folder}/importer.ts`,
    allowed: [...ROOMS.map(entrance), ...ROOT_FILES, '../testkit/api.ts', `../${folder}/neighbour.ts`],
    forbidden: [...ROOMS.map(inside), 'store/sqlite/inside.ts', '../test/outside.ts', '../test/lib/outside.ts'],
  })),
  {
    path: '../testkit/importer.ts',
    allowed: [...ROOMS.map(entrance), ...ROOMS.map(inside), ...ROOT_FILES, '../testkit/postgres/server.ts'],
    forbidden: ['../test/outside.ts', '../bench/outside.ts', '../trials/outside.ts', '../scripts/outside.ts'],
  },
]

/** The relative specifier that leads from one path to another, both from `src`. */
function specifier(from: string, to: string): string {
  const folders = join('src', from).split('/').slice(0, -1)
  const target = join('src', to).split('/')
  while (folders.length > 0 && folders[0] === target[0]) {
    folders.shift()
    target.shift()
  }
  return `${folders.length === 0 ? './' : '../'.repeat(folders.length)}${target.join('/')}`
}

/** One import a line, so that a finding's line tells which import it is about. */
const importing = (from: string, targets: readonly string[]) =>
  targets.map((to, n) => `export type { Thing as Thing${n} } from '${specifier(from, to)}'\n`).join('')

const repositoryPath = (path: string) => join('src', path)
/** These examples import one another: cycles are another rule's. */
const lintRooms = async (files: Record<string, string>) => {
  const found = await lint(files)
  return new Map([...found].map(([path, all]) => [path, all.filter(({ rule }) => rule !== 'noImportCycles')]))
}
const violations = await lintRooms(
  Object.fromEntries(importers.map(({ path, forbidden }) => [repositoryPath(path), importing(path, forbidden)])),
)
const clean = await lintRooms(
  Object.fromEntries(importers.map(({ path, allowed }) => [repositoryPath(path), importing(path, allowed)])),
)

for (const { path, forbidden, allowed } of importers) {
  const where = repositoryPath(path)
  test(`${where} is refused ${forbidden.length} imports of other rooms, one by one`, () => {
    const found = violations.get(where) ?? []
    assert.deepEqual(new Set(found.map(({ rule }) => rule)), new Set(['noRestrictedImports']))
    const refused = new Set(found.map(({ line }) => forbidden[line - 1]))
    assert.deepEqual(refused, new Set(forbidden))
  })
  test(`${where} may import its ${allowed.length} neighbours`, () => {
    assert.deepEqual(clean.get(where) ?? [], [])
  })
}

test('every folder and file directly under src has a rule', async () => {
  const entries = await readdir(join(REPOSITORY, 'src'), { withFileTypes: true })
  const known = [...ROOMS, ...ROOT_FILES]
  assert.deepEqual(
    entries.map(({ name }) => name).filter((name) => !known.includes(name)),
    [],
    'add it to the table in docs/architecture.md, or to ROOT_FILES, and to biome.json',
  )
})

test('the message about a refused import says what its room may import', () => {
  const list = new Intl.ListFormat('en-GB', { type: 'conjunction' })
  for (const [room, neighbours] of Object.entries(MAY_IMPORT)) {
    if (room === 'lib' || room === 'cli') continue
    const [finding] = violations.get(`src/${room}/importer.ts`) ?? []
    const said = `${room} may import ${list.format(neighbours)}`
    assert.equal(finding?.message, `${said}, ${neighbours.length === 1 ? '' : 'each '}through its index.ts.`)
  }
})
