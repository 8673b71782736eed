import '@mantine/core/styles/Table.layer.css'
import { Select, Skeleton, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { Scale } from 'lucide-react'
import { useMemo } from 'react'
import { type SiteReport, siteReportQuery } from '../../api/analytics.ts'
import { overviewQuery } from '../../api/overview.ts'
import { type Directory, useDirectory } from '../../lib/use-directory.ts'
import { type UrlSearch, useSetUrlState } from '../../lib/use-url-state.ts'
import { clearButton } from '../../ui/clear-button.ts'
import { NoSites } from '../../ui/NoSites.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { TimeRangePicker } from '../../ui/time-range/TimeRangePicker.tsx'
import { useTimeRange } from '../../ui/time-range/use-time-range.ts'
import { figure, type Kind } from '../site/words.ts'
import { CompareCharts } from './CompareCharts.tsx'
import classes from './compare.module.css'
import { figuresOf, labelsOf, type Side, type SideFigures, sidesOf } from './sides.ts'

/** Two sites or two tags side by side: does only this one fail, is the new tag as good as the old? Both are in the page's address. */
export function ComparePage() {
  const directory = useDirectory()
  const { data: overview } = useQuery(overviewQuery)
  const search = useRouterState({ select: (state) => state.location.search as UrlSearch })
  const [a, b] = useMemo(() => sidesOf(directory, search), [directory, search])
  return (
    <div className={classes.page}>
      <PageHeader
        title="Compare"
        parents={[{ label: 'Overview', to: '/overview' }]}
        actions={<TimeRangePicker {...(a !== null && { zone: a.site.timezone })} />}
      >
        Two sites, or two tags, over the same time.{a !== null && ` Times in ${a.site.timezone}.`}
      </PageHeader>
      <div className={classes.sides}>
        <SideSelect name="a" label="First" directory={directory} side={a} />
        <SideSelect name="b" label="Second" directory={directory} side={b} />
      </div>
      {a !== null && b !== null ? (
        <Compared a={a} b={b} />
      ) : overview?.totals.sites === 0 ? (
        <NoSites title="No site is watched">
          Two sites, a tag of two sites, or two tags of one site can be compared.
        </NoSites>
      ) : (
        <EmptyState icon={Scale} title="Choose two to compare">
          Two sites, a tag of two sites, or two tags of one site.
        </EmptyState>
      )}
    </div>
  )
}

/** Maximum number of options shown; typing finds the others. */
const SHOWN = 100

interface SideSelectProps {
  name: 'a' | 'b'
  label: string
  directory: Directory
  side: Side | null
}

function SideSelect({ name, label, directory, side }: SideSelectProps) {
  const set = useSetUrlState({ push: true })
  const { query } = useTimeRange()
  const { data } = useQuery({ ...siteReportQuery(side?.site.id ?? '', query, false), enabled: side !== null })
  const sites = useMemo(() => sitesByClient(directory), [directory])
  const tags = useMemo(() => {
    const names = data?.tags.map(({ tag_key }) => tag_key) ?? []
    // Keep the chosen tag among the options even if it has not run in this time.
    return side?.tag == null || names.includes(side.tag) ? names : [side.tag, ...names]
  }, [data, side])
  return (
    <fieldset className={classes.side}>
      <legend>{label}</legend>
      <Select
        label="Site"
        placeholder="Choose a site"
        data={sites}
        value={side?.site.id ?? null}
        onChange={(id) => set({ [name]: id ?? undefined, [`${name}_tag`]: undefined })}
        searchable
        limit={SHOWN}
        nothingFoundMessage="No results"
      />
      <Select
        label="Tag"
        placeholder="All tags"
        data={tags}
        value={side?.tag ?? null}
        onChange={(tag) => set({ [`${name}_tag`]: tag ?? undefined })}
        disabled={side === null}
        searchable
        clearable
        clearButtonProps={clearButton('All tags')}
        limit={SHOWN}
        nothingFoundMessage="No results"
      />
    </fieldset>
  )
}

const sitesByClient = ({ clients, sites }: Directory) =>
  Object.values(clients).map(({ id, name }) => ({
    group: name,
    items: Object.values(sites)
      .filter((site) => site.client_id === id)
      .map((site) => ({ value: site.id, label: site.name })),
  }))

function Compared({ a, b }: { a: Side; b: Side }) {
  const { query } = useTimeRange()
  const first = useQuery(siteReportQuery(a.site.id, query, false))
  const second = useQuery(siteReportQuery(b.site.id, query, false))
  const failed = [first, second].find(({ error, data }) => error !== null && data === undefined)
  const sides = useMemo((): [Side, Side] => [a, b], [a, b])
  if (failed?.error) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
  if (first.data === undefined || second.data === undefined) return <Skeleton height={400} />
  const [from, to] = [Date.parse(first.data.from), Date.parse(first.data.to)]
  return (
    <>
      <Figures sides={sides} reports={[first.data, second.data]} />
      <div className={classes.charts}>
        <CompareCharts sides={sides} query={query} from={from} to={to} />
      </div>
    </>
  )
}

const ROWS: readonly { key: keyof SideFigures; name: string; kind: Kind }[] = [
  { key: 'events', name: 'Events of the site', kind: 'count' },
  { key: 'executions', name: 'Executions', kind: 'count' },
  { key: 'badShare', name: 'Failure rate', kind: 'rate' },
  { key: 'p95', name: '95th percentile', kind: 'ms' },
]

function Figures({ sides, reports }: { sides: [Side, Side]; reports: [SiteReport, SiteReport] }) {
  const labels = labelsOf(...sides)
  const figures = reports.map((report, index) => figuresOf(report, sides[index]?.tag ?? null))
  return (
    <Table.ScrollContainer minWidth={320} className={classes.figures}>
      <Table aria-label="Figures of this time">
        <Table.Thead>
          <Table.Tr>
            <Table.Td />
            {labels.map((label) => (
              <Table.Th key={label} scope="col">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {ROWS.map(({ key, name, kind }) => (
            <Table.Tr key={key}>
              <Table.Th scope="row">{name}</Table.Th>
              {labels.map((label, index) => (
                <Table.Td key={label}>{figure(figures[index]?.[key] ?? null, kind)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
