within A.B;
final model M end M;
package P end P;
