import { SeriesSwatch } from '../../ui/SeriesSwatch.tsx'
import classes from './Legend.module.css'

interface Props {
  series: readonly { key: string; token?: string; isReference?: boolean }[]
}

/** Which line is which, in one row. */
export function SeriesKey({ series }: Props) {
  return (
    <div className={classes.keys}>
      {series.map(({ key, token, isReference }) => (
        <span key={key}>
          <SeriesSwatch token={isReference === true ? '--line-strong' : (token ?? '--series-other')} />
          {key}
        </span>
      ))}
    </div>
  )
}
