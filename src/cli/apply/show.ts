import { printable } from '../../lib/index.ts'
import type { Change } from './change.ts'
import type { Plan } from './plan.ts'
import type { Invitation } from './planning.ts'

const SIGNS = { create: '+', update: '~', delete: '-' } as const

/** A plan in lines for people. No secret is in it, and nothing that could move the cursor of a terminal. */
export function planLines({ changes, kept }: Plan): string[] {
  const lines = changes.flatMap(({ action, what, fields }) => [
    `${SIGNS[action]} ${printable(what)}`,
    ...fields.map(({ name, before, after }) => `    ${name}: ${before} → ${after}`),
  ])
  return [...lines, ...keptLines(kept), summary(changes)]
}

function keptLines(kept: readonly string[]): string[] {
  if (kept.length === 0) return []
  const names = kept.slice(0, 10).map((what) => `    ${printable(what)}`)
  const rest = kept.length - names.length
  return [
    `= ${kept.length} in no file, left as they are (--prune deletes them):`,
    ...names,
    ...(rest > 0 ? [`    … and ${rest} more`] : []),
  ]
}

/** `3 to create, 1 to change, none to delete`. */
function summary(changes: readonly Change[]): string {
  if (changes.length === 0) return 'Nothing to change.'
  return `${inWords(changes, { create: 'to create', update: 'to change', delete: 'to delete' })}.`
}

/** One link a line, where the service has not sent it. Anyone who has it can set the password. */
export const invitationLines = (invitations: readonly Invitation[]): string[] =>
  invitations.flatMap(({ email, link }) => {
    if (link === null) return []
    const who = `Invited ${printable(email)}`
    return [
      link.mailed ? `${who} by e-mail.` : `${who}, with a link that works once, until ${link.expires_at}: ${link.url}`,
    ]
  })

export const doneLine = (changes: readonly Change[]): string =>
  `Done: ${inWords(changes, { create: 'created', update: 'changed', delete: 'deleted' })}.`

function inWords(changes: readonly Change[], words: Readonly<Record<Change['action'], string>>): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length
  return (['create', 'update', 'delete'] as const).map((action) => `${count(action)} ${words[action]}`).join(', ')
}
