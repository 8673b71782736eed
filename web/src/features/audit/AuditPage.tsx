import { Button, Select, Skeleton, UnstyledButton } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowRight, ChevronDown, ChevronRight, History } from 'lucide-react'
import { useMemo, useState } from 'react'
import { type AuditRecord, auditQuery } from '../../api/audit.ts'
import { clientsQuery } from '../../api/clients.ts'
import { probesQuery } from '../../api/probes.ts'
import { sitesQuery } from '../../api/sites.ts'
import { useDirectory, useIsDirectoryAwaited } from '../../lib/use-directory.ts'
import { useSetUrlState, useUrlState } from '../../lib/use-url-state.ts'
import { counted } from '../../lib/words.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { AuditFilters, useAuditFilter } from './AuditFilters.tsx'
import classes from './audit.module.css'
import {
  actionWords,
  changesOf,
  entityOptions,
  type FieldChange,
  hasPausedProbe,
  localTime,
  type NamedProbe,
  type Names,
  nameOf,
  namesOf,
  pageOf,
  runningProbes,
  withNames,
} from './entries.ts'

/** Maximum number of options shown; typing finds the others. */
const SHOWN = 100

/** Who changed what, when, from what to what. */
export function AuditPage() {
  const [entity, setEntity] = useUrlState('entity', '', undefined, { push: true })
  const filter = useAuditFilter()
  const isFiltered = Object.keys(filter).length > 0
  const setAll = useSetUrlState({ push: true })
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(auditQuery(filter))
  const { data: clients = [] } = useQuery(clientsQuery)
  const { data: sites = [] } = useQuery(sitesQuery())
  const entries = data?.pages.flat()
  const [isChoosing, setChoosing] = useState(false)
  const probes = useProbes(entries ?? [], isChoosing)
  const options = useMemo(() => entityOptions(clients, sites, probes, entity), [clients, sites, probes, entity])
  const names = useMemo(() => namesOf(clients, sites, probes), [clients, sites, probes])
  return (
    <>
      <PageHeader title="Audit">Who changed what, and from what to what. Secrets are left out.</PageHeader>
      <Select
        className={classes.filter}
        label="Changes of"
        placeholder="Everything"
        data={options}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Show everything' }}
        limit={SHOWN}
        nothingFoundMessage="No results"
        onDropdownOpen={() => setChoosing(true)}
        value={entity === '' ? null : entity}
        onChange={(id) => setEntity(id ?? '')}
      />
      <AuditFilters />
      {entries === undefined ? (
        error === null ? (
          <AuditSkeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void refetch()} />
        )
      ) : entries.length === 0 ? (
        <EmptyState
          icon={History}
          title={isFiltered ? 'No change matches' : 'No changes yet'}
          action={
            isFiltered && (
              <Button
                variant="default"
                onClick={() => setAll({ entity: undefined, client: undefined, actor: undefined, days: undefined })}
              >
                Show everything
              </Button>
            )
          }
        >
          Every change of a client, site, probe, silence or maintenance is recorded here.
        </EmptyState>
      ) : (
        <>
          <ol className={classes.entries}>
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} names={names} />
            ))}
          </ol>
          {hasNextPage && (
            <Button
              variant="default"
              className={classes.more}
              loading={isFetchingNextPage}
              onClick={() => void fetchNextPage()}
            >
              Show older changes
            </Button>
          )}
        </>
      )}
    </>
  )
}

/** Probes with their names. A list of thousands has megabytes, so it is loaded once, and only when the active probes do not suffice. */
function useProbes(entries: readonly AuditRecord[], isChoosing: boolean): readonly NamedProbe[] {
  const directory = useDirectory()
  const isAwaited = useIsDirectoryAwaited()
  const running = useMemo(() => runningProbes(directory), [directory])
  const enabled = isChoosing || (!isAwaited && hasPausedProbe(entries, running))
  const { data } = useQuery({ ...probesQuery(undefined), refetchInterval: false, enabled })
  return data ?? running
}

const LINES = ['a', 'b', 'c', 'd', 'e']

function AuditSkeleton() {
  return (
    <div className={classes.entries} aria-busy="true">
      <span className="sr-only" role="status">
        Loading the changes
      </span>
      {LINES.map((line) => (
        <div key={line} className={classes.entry}>
          <Skeleton height={40} />
        </div>
      ))}
    </div>
  )
}

interface Props {
  entry: AuditRecord
  names: Names
}

/** Number of fields from which they are folded; a creation has them all. */
const FOLD_FROM = 5

/** One change: who, what, when, and each field before and after. */
function Entry({ entry, names }: Props) {
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

/** What was changed, with a link to its page if it has one. */
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
  const shown = (text: string | null) => (text === null ? <i>nothing</i> : (localTime(text) ?? withNames(text, names)))
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
