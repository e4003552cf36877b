/** S3 takes no more in one PUT, and copies no more at once: 5 GiB. */
export const maxSinglePutBytes = 5 * 1024 ** 3;
