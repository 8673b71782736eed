import { UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ArrowRight, ChevronDown, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { AuditRecord } from '../../api/audit.ts'
import { counted } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import classes from './audit.module.css'
import { changesOf, type FieldChange, localTime } from './diff.ts'
import { actionWords, type Names, nameOf, pageOf } from './entities.ts'

interface Props {
  entry: AuditRecord
  names: Names
}

/** More fields than this are folded: a creation fills them all. */
const FOLD_FROM = 5

/** One change: who, what, when, and each field before and after. */
export function Entry({ entry, names }: Props) {
  const changes = changesOf(entry)
  const [isOpen, setOpen] = useState(changes.length < FOLD_FROM)
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <li className={classes.entry}>
      <div className={classes.head}>
        <span className={classes.action}>{actionWords(entry)}</span>
        <Subject entry={entry} names={names} />
        <Link to="/audit" search={{ entity: entry.entity_id } as object} className={classes.only}>
          only its changes
        </Link>
        <span className={classes.who}>
          {entry.actor} · <RelativeTime at={entry.at} />
        </span>
      </div>
      {changes.length >= FOLD_FROM && (
        <UnstyledButton className={classes.fold} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <Chevron size={14} aria-hidden />
          {counted(changes.length, 'field')}
        </UnstyledButton>
      )}
      {isOpen && changes.length > 0 && (
        <dl className={classes.changes}>
          {changes.map((change) => (
            <Change
              key={change.field}
              change={change}
              names={names}
              isPair={entry.before !== null && entry.after !== null}
            />
          ))}
        </dl>
      )}
    </li>
  )
}

/** What was changed, as a link to its page where it has one. */
function Subject({ entry, names }: Props) {
  const name = nameOf(entry, names) ?? <code>{entry.entity_id}</code>
  const page = pageOf(entry, names)
  return page === undefined ? (
    <span className={classes.name}>{name}</span>
  ) : (
    <Link {...page} className={classes.name}>
      {name}
    </Link>
  )
}

function Change({
  change: { field, before, after },
  names,
  isPair,
}: {
  change: FieldChange
  names: Names
  isPair: boolean
}) {
  const shown = (text: string | null) => (text === null ? <i>nothing</i> : (names.get(text) ?? localTime(text) ?? text))
  return (
    <div className={classes.change}>
      <dt>{field.replace(/^config\./, '').replaceAll('_', ' ')}</dt>
      <dd>
        {(isPair || before !== null) && (
          <del>
            <span className="sr-only">before: </span>
            {shown(before)}
          </del>
        )}
        {isPair && <ArrowRight size={14} aria-hidden />}
        {(isPair || after !== null) && (
          <ins>
            <span className="sr-only">after: </span>
            {shown(after)}
          </ins>
        )}
      </dd>
    </div>
  )
}
