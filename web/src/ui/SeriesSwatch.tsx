import classes from './SeriesSwatch.module.css'

interface Props {
  /** From `seriesTokens`. */
  token: string
}

/** A series' colour in a legend or a table, beside its name. */
export function SeriesSwatch({ token }: Props) {
  return (
    <svg className={classes.swatch} width="10" height="10" aria-hidden="true">
      <rect width="10" height="10" rx="2" fill={`var(${token})`} />
    </svg>
  )
}
