import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { probesQuery } from '../../api/probes.ts'
import { type ReferenceRecord, reconciliationQuery, referencesQuery } from '../../api/reconciliation.ts'
import { useSession } from '../../api/session.ts'
import { percent, unbroken } from '../../lib/words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { capturedRows, capturedSeries, isOverAll, pairName, probeOf, targetOf, timeOfDays } from './captured.ts'
import { Legend } from './Legend.tsx'
import { ChartPanel } from './Panel.tsx'
import page from './site.module.css'
import { useSite } from './site-scope.ts'

const HEIGHT = 160

/** The share of reference counts that Tagwarden counted; renders nothing on sites without reference counts. */
export function CapturedPanel() {
  const { site } = useSite()
  const { data: references } = useQuery(referencesQuery(site.id))
  const [picked, setPicked] = useState('')
  const reference = references?.find((each) => pairName(each) === picked) ?? references?.[0]
  if (references === undefined || reference === undefined) return null
  const names = references.map(pairName)
  return (
    <Captured
      key={pairName(reference)}
      reference={reference}
      tools={
        names.length > 1 && (
          <NativeSelect
            aria-label="Event and source"
            size="xs"
            data={names}
            value={pairName(reference)}
            onChange={(event) => setPicked(event.currentTarget.value)}
          />
        )
      }
    />
  )
}

function Captured({ reference, tools }: { reference: ReferenceRecord; tools: ReactNode }) {
  const { site } = useSite()
  const answer = useQuery(reconciliationQuery(site.id, reference))
  const { mayChange } = useSession()
  const { data: probes } = useQuery(probesQuery(site.id))
  const { data } = answer
  const probe = probes && probeOf(probes, reference)
  const target = targetOf(probe)
  const series = useMemo(() => data && capturedSeries(data, target), [data, target])
  const rows = data === undefined ? [] : capturedRows(data, target)
  return (
    <ChartPanel
      title="Captured"
      unit={`of “${reference.event}” that ${reference.source} counted, last 30 days${target === undefined ? '' : '; dashed: wanted'}`}
      tools={tools}
      answer={answer}
      series={series}
      over={data && timeOfDays(data)}
      kind="lines"
      {...(data !== undefined && !isOverAll(data) && { scale: 'share' as const })}
      height={HEIGHT}
      format={percent}
      label={`Captured share over time: ${rows.map(({ name, value }) => `${name} ${String(value)}`).join(', ')}`}
      note={
        data?.reference === null ? `${reference.source} reported no hour of the last 30 days that is over.` : undefined
      }
      side={
        <>
          <Legend label="Captured" rows={rows} />
          {typeof data?.shift?.message === 'string' && (
            <p className={`${page.bad} ${page.aside}`}>{unbroken(data.shift.message)}</p>
          )}
          {probes !== undefined && probe === undefined && (
            <p className={`${page.muted} ${page.aside}`}>
              No probe watches it
              {mayChange && (
                <>
                  :{' '}
                  <TextLink to="/probes/new" search={{ site: site.id, type: 'reconciliation' } as object}>
                    add “Comparison with the shop”
                  </TextLink>
                </>
              )}
            </p>
          )}
        </>
      }
    />
  )
}
