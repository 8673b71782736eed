import { useInViewport } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ProbeRecord, stripQuery } from '../../api/probes.ts'
import { HeatStrip } from '../../ui/HeatStrip.tsx'
import { RowAwaited } from '../../ui/RowAwaited.tsx'
import classes from './probes.module.css'

interface Props {
  probe: ProbeRecord
  zone: string | undefined
}

/** Asks for the results when the row is seen: a list of many probes is not as many calls at once. */
export function RowStrip({ probe, zone }: Props) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { data, error, refetch } = useQuery({ ...stripQuery(probe), enabled: inViewport })
  return (
    <div ref={ref} className={classes.strip}>
      {data === undefined ? (
        <RowAwaited error={error} onRetry={() => void refetch()} height={20} width={200} />
      ) : (
        <HeatStrip results={data} zone={zone} />
      )}
    </div>
  )
}
