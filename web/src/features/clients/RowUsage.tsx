import { useInViewport } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { usageQuery } from '../../api/usage.ts'
import { RowAwaited } from '../../ui/RowAwaited.tsx'
import classes from './clients.module.css'
import { UsageBar } from './UsageBar.tsx'

/** Asks when the row is seen: a list of many clients is not as many calls at once. */
export function RowUsage({ clientId }: { clientId: string }) {
  const { ref, inViewport } = useInViewport<HTMLDivElement>()
  const { data, error, refetch } = useQuery({ ...usageQuery(clientId), enabled: inViewport })
  return (
    <div ref={ref} className={classes.usage}>
      {data === undefined ? (
        <RowAwaited error={error} onRetry={() => void refetch()} height={12} width="80%" />
      ) : (
        <UsageBar usage={data} />
      )}
    </div>
  )
}
