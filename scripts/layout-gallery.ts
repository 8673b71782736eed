/**
 * Lays out the repository that the Community Template Gallery reads in its own folder, and checks it by the gallery's rules. Commits, but
 * does not push. On a clone of the published repository, it adds a version.
 *
 *     node scripts/layout-gallery.ts ../tagwarden-gtm-template --homepage https://… --documentation https://…
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { galleryFaults, git, licenceFaults, type Metadata, readMetadata, templateFaults } from './gallery-rules.ts'

const TAG = join(import.meta.dirname, '../tag')
const COPIED = ['template.tpl', 'LICENSE', 'README.md']

const USAGE = 'Usage: node scripts/layout-gallery.ts FOLDER [--homepage URL] [--documentation URL]'

/**
 * Brings the gallery repository in `folder` up to this project's template.
 *
 * @returns what the gallery would refuse, one line each; if there is any, nothing or a faulty repository was committed
 */
export function layOutGallery(
  folder: string,
  addresses: Partial<Pick<Metadata, 'homepage' | 'documentation'>>,
): string[] {
  const source = (file: string) => readFileSync(join(TAG, file), 'utf8')
  const faults = [...licenceFaults(source('LICENSE')), ...templateFaults(source('template.tpl'))]
  if (faults.length > 0) return faults
  mkdirSync(folder, { recursive: true })
  if (!existsSync(join(folder, '.git'))) git(folder, 'init', '--quiet', '--initial-branch=main')
  if (git(folder, 'status', '--porcelain') !== '') return ['there are changes that are not committed']

  const next = { ...readMetadata(source('metadata.yaml')), ...addresses }
  const notes = next.versions[0]?.changeNotes ?? ''
  for (const file of COPIED) copyFileSync(join(TAG, file), join(folder, file))
  const isNewTemplate = git(folder, 'status', '--porcelain', 'template.tpl') !== ''
  commitAll(folder, notes)

  // A version names the commit of its template, so metadata.yaml must be committed after it.
  const path = join(folder, 'metadata.yaml')
  const published = existsSync(path) ? readMetadata(readFileSync(path, 'utf8')).versions : []
  const latest = isNewTemplate ? [{ sha: git(folder, 'rev-parse', 'HEAD'), changeNotes: notes }] : []
  writeFileSync(path, metadataText({ ...next, versions: [...latest, ...published] }))
  commitAll(folder, isNewTemplate ? 'List the new version' : 'Update the metadata')
  return galleryFaults(folder)
}

function commitAll(folder: string, message: string): void {
  git(folder, 'add', '--all')
  if (git(folder, 'status', '--porcelain') !== '') git(folder, 'commit', '--quiet', '--message', message)
}

function metadataText({ homepage, documentation, versions }: Metadata): string {
  const text = stringify({ homepage, documentation, versions }, { lineWidth: 0 })
  return text.replace('\nversions:\n', '\nversions:\n  # Latest version\n')
}

function faultsOfRun(): string[] {
  const options = { homepage: { type: 'string' }, documentation: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [folder] = positionals
  return folder === undefined || positionals.length > 1 ? [USAGE] : layOutGallery(folder, values)
}

if (import.meta.main) {
  const faults = faultsOfRun()
  for (const fault of faults) console.error(fault)
  if (faults.length === 0) console.log('Ready to be pushed')
  else process.exitCode = 1
}
